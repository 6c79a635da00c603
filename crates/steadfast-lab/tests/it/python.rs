//! Against numbers that CPython printed: `python3 tests/it/python/vectors.py` (3.11.7).

use serde_json::Value;
use steadfast_lab::python::PythonRandom;

fn vectors() -> Vec<Value> {
    let vectors: Vec<Value> = serde_json::from_str(include_str!("python/vectors.json")).unwrap();
    assert_eq!(vectors.len(), 8);
    vectors
}

fn floats(value: &Value) -> Vec<f64> {
    let floats = value.as_array().unwrap().iter();
    floats.map(float).collect()
}

fn float(value: &Value) -> f64 {
    value.as_str().unwrap().parse().unwrap()
}

#[test]
fn every_method_draws_what_cpython_draws() {
    for vector in vectors() {
        let seed = vector["seed"].as_u64().unwrap();
        let mut draw = PythonRandom::seeded(seed);
        let random: Vec<_> = (0..700).map(|_| draw.random()).step_by(100).collect();
        assert_eq!(random, floats(&vector["random"]), "seed {seed}");
        let uniform = [(0.0, 1.5), (1.0, 9.0), (3.0, 3.0)].map(|(a, b)| draw.uniform(a, b));
        assert_eq!(uniform, *floats(&vector["uniform"]), "seed {seed}");
        for bits in vector["bits_128"].as_array().unwrap() {
            let drawn = draw.bits_128().to_string();
            assert_eq!(drawn, bits.as_str().unwrap(), "seed {seed}");
        }
        for below in vector["below"].as_array().unwrap() {
            let n = u32::try_from(below[0].as_u64().unwrap()).unwrap();
            let drawn = u64::from(draw.below(n));
            assert_eq!(drawn, below[1].as_u64().unwrap(), "seed {seed}, below {n}");
        }
        let mut items: Vec<u64> = (0..20).collect();
        draw.shuffle(&mut items);
        let shuffled = vector["shuffled"].as_array().unwrap().iter();
        let shuffled: Vec<_> = shuffled.map(|item| item.as_u64().unwrap()).collect();
        assert_eq!(items, shuffled, "seed {seed}");
        let chosen = u64::from(draw.below(1000));
        assert_eq!(chosen, vector["choice"].as_u64().unwrap(), "seed {seed}");
        assert_eq!(draw.random(), float(&vector["last"]), "seed {seed}");
    }
}

#[test]
fn nothing_to_choose_from_takes_no_draw() {
    let (mut one, mut other) = (PythonRandom::seeded(7), PythonRandom::seeded(7));
    assert_eq!(one.below(0), 0);
    one.shuffle::<u8>(&mut []);
    one.shuffle(&mut [1]);
    assert_eq!(one.random(), other.random());
}
