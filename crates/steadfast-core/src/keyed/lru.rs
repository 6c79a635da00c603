use hashbrown::HashTable;

/// No place in the list.
const NOWHERE: u32 = u32::MAX;

/// The entries of one shard: found by key, ordered by their last use, never more than
/// `capacity` of them.
pub(super) struct Lru<K, V> {
    index: HashTable<u32>,
    places: Vec<Place<K, V>>,
    newest: u32,
    oldest: u32,
    /// The first vacant place; the others follow by `older`.
    vacant: u32,
    capacity: u32,
    /// The time without use after which an entry is forgotten.
    idle: u64,
}

struct Place<K, V> {
    entry: Option<(K, V)>,
    used: u64,
    newer: u32,
    older: u32,
}

/// What was let go, for the caller to drop outside of the lock: the one looked for, if it was
/// idle, and two more, so that what is let go keeps up with what comes in.
pub(super) type Idle<K, V> = [Option<(K, V)>; 3];

impl<K, V> Lru<K, V> {
    /// The bytes of one place.
    pub(super) const PLACE: usize = size_of::<Place<K, V>>();

    pub(super) const fn of(capacity: u32, idle: u64) -> Self {
        Self {
            index: HashTable::new(),
            places: Vec::new(),
            newest: NOWHERE,
            oldest: NOWHERE,
            vacant: NOWHERE,
            capacity,
            idle,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    pub(super) fn for_each(&mut self, f: &mut impl FnMut(&K, &mut V)) {
        let entries = self.places.iter_mut().filter_map(|it| it.entry.as_mut());
        entries.for_each(|(key, value)| f(key, value));
    }

    fn place(&mut self, at: u32) -> &mut Place<K, V> {
        &mut self.places[at as usize]
    }

    fn link_newest(&mut self, at: u32) {
        let older = std::mem::replace(&mut self.newest, at);
        let place = self.place(at);
        (place.newer, place.older) = (NOWHERE, older);
        match older {
            NOWHERE => self.oldest = at,
            older => self.place(older).newer = at,
        }
    }

    fn unlink(&mut self, at: u32) {
        let Place { newer, older, .. } = *self.place(at);
        match newer {
            NOWHERE => self.newest = older,
            newer => self.place(newer).older = older,
        }
        match older {
            NOWHERE => self.oldest = newer,
            older => self.place(older).newer = newer,
        }
    }
}

impl<K, V: Clone> Lru<K, V> {
    /// The value of the entry that `is` knows, which becomes the newest. Lets idle ones go.
    pub(super) fn find(
        &mut self,
        hash: u64,
        is: impl Fn(&K) -> bool,
        now: u64,
        hash_of: impl Fn(&K) -> u64,
    ) -> (Option<V>, Idle<K, V>) {
        let mut gone = [const { None }; 3];
        let places = &self.places;
        let known = |at: &u32| {
            let entry = places[*at as usize].entry.as_ref();
            entry.is_some_and(|(key, _)| is(key))
        };
        let mut found = None;
        if let Some(&at) = self.index.find(hash, known) {
            if self.is_idle(at, now) {
                gone[2] = self.remove(at, hash);
            } else {
                if at != self.newest {
                    self.unlink(at);
                    self.link_newest(at);
                }
                let place = self.place(at);
                place.used = now;
                found = place.entry.as_ref().map(|(_, value)| value.clone());
            }
        }
        for slot in &mut gone[..2] {
            if self.oldest == NOWHERE || !self.is_idle(self.oldest, now) {
                break;
            }
            *slot = self.remove_oldest(&hash_of);
        }
        (found, gone)
    }

    /// Puts in an entry that is not there; answers the oldest one if that had to make room.
    pub(super) fn insert(
        &mut self,
        hash: u64,
        entry: (K, V),
        now: u64,
        hash_of: impl Fn(&K) -> u64,
    ) -> Option<(K, V)> {
        let full = self.len() >= self.capacity as usize;
        let oldest = full.then(|| self.remove_oldest(&hash_of)).flatten();
        let place = Place {
            entry: Some(entry),
            used: now,
            newer: NOWHERE,
            older: NOWHERE,
        };
        let at = match self.vacant {
            NOWHERE => {
                let (len, most) = (self.places.len(), self.capacity as usize);
                if len == self.places.capacity() {
                    // As much as there is, but never more than can ever be used.
                    let more = len.clamp(4, most.saturating_sub(len).max(4));
                    self.places.reserve_exact(more);
                }
                self.places.push(place);
                len as u32
            }
            at => {
                self.vacant = self.place(at).older;
                *self.place(at) = place;
                at
            }
        };
        self.link_newest(at);
        let places = &self.places;
        self.index.insert_unique(hash, at, |at| {
            let entry = places[*at as usize].entry.as_ref();
            entry.map_or(0, |(key, _)| hash_of(key))
        });
        oldest
    }

    /// The value of the entry that `is` knows, as if nobody had asked.
    pub(super) fn peek(&self, hash: u64, is: impl Fn(&K) -> bool, now: u64) -> Option<V> {
        let entry = |at: u32| self.places[at as usize].entry.as_ref();
        let known = |at: &u32| entry(*at).is_some_and(|(key, _)| is(key));
        let at = *self.index.find(hash, known)?;
        let awake = entry(at).filter(|_| !self.is_idle(at, now));
        awake.map(|(_, value)| value.clone())
    }

    /// Sets both bounds; answers those that have no place any longer.
    pub(super) fn set_bounds(
        &mut self,
        capacity: u32,
        idle: u64,
        hash_of: impl Fn(&K) -> u64,
    ) -> Vec<(K, V)> {
        (self.capacity, self.idle) = (capacity, idle);
        let too_many = self.len().saturating_sub(capacity as usize);
        let gone = (0..too_many).map_while(|_| self.remove_oldest(&hash_of));
        gone.collect()
    }

    fn is_idle(&self, at: u32, now: u64) -> bool {
        let unused = now.saturating_sub(self.places[at as usize].used);
        self.idle != u64::MAX && unused >= self.idle
    }

    fn remove_oldest(&mut self, hash_of: impl Fn(&K) -> u64) -> Option<(K, V)> {
        let at = self.oldest;
        let (key, _) = self.places.get(at as usize)?.entry.as_ref()?;
        let hash = hash_of(key);
        self.remove(at, hash)
    }

    fn remove(&mut self, at: u32, hash: u64) -> Option<(K, V)> {
        if let Ok(known) = self.index.find_entry(hash, |other| *other == at) {
            known.remove();
        }
        self.unlink(at);
        let vacant = std::mem::replace(&mut self.vacant, at);
        let place = self.place(at);
        place.older = vacant;
        place.entry.take()
    }
}
