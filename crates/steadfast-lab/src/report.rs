//! What a command found, and its three forms: for a terminal, as JSON, as CSV.
//!
//! The same report has the same bytes.

use std::fmt;

use comfy_table::{CellAlignment, ContentArrangement, Table as TextTable, presets};
use serde_json::{Map, Number, Value, json};

/// What a command found.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The command's name.
    pub command: &'static str,
    /// What was simulated, in one sentence.
    pub setting: String,
    /// What came out.
    pub tables: Vec<Table>,
    /// What to see in it.
    pub notes: Vec<String>,
}

/// Rows under names.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name in JSON and CSV.
    pub name: &'static str,
    /// What each column is: its name in JSON and CSV, with the unit at its end.
    pub columns: Vec<&'static str>,
    /// Cells, as many in each row as there are columns.
    pub rows: Vec<Vec<Cell>>,
}

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A whole number.
    Count(u64),
    /// A number to so many decimals.
    Number(f64, usize),
    /// There is none.
    Nothing,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Count(count) => write!(f, "{count}"),
            Self::Number(number, decimals) => write!(f, "{number:.decimals$}"),
            Self::Nothing => Ok(()),
        }
    }
}

impl Cell {
    fn json(&self) -> Value {
        match self {
            Self::Text(text) => Value::from(text.as_str()),
            Self::Count(count) => Value::from(*count),
            Self::Number(..) => {
                // As many decimals as are shown.
                let shown = self.to_string().parse().ok();
                shown
                    .and_then(Number::from_f64)
                    .map_or(Value::Null, Value::Number)
            }
            Self::Nothing => Value::Null,
        }
    }
}

impl Report {
    /// For a terminal. Nothing is wrapped: what is too wide for a table is for the other forms.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.setting);
        for table in &self.tables {
            text.push('\n');
            // Padding at line ends would be noise in a diff.
            for line in table.text().lines() {
                text.push_str(line.trim_end());
                text.push('\n');
            }
        }
        if !self.notes.is_empty() {
            text.push('\n');
        }
        for note in &self.notes {
            text.push_str(note);
            text.push('\n');
        }
        text
    }

    /// One object: command, setting, the tables by name as arrays of objects, notes.
    pub fn json(&self) -> String {
        let tables: Map<_, _> = self
            .tables
            .iter()
            .map(|table| (table.name.to_owned(), table.json()))
            .collect();
        let whole = json!({
            "command": self.command,
            "setting": self.setting,
            "tables": tables,
            "notes": self.notes,
        });
        format!("{whole:#}\n")
    }

    /// Each table with a header row; a blank line between two.
    ///
    /// # Errors
    ///
    /// Never while rows are as long as their header.
    pub fn csv(&self) -> Result<String, csv::Error> {
        let tables: Result<Vec<_>, _> = self.tables.iter().map(Table::csv).collect();
        Ok(tables?.join("\n"))
    }
}

impl Table {
    fn text(&self) -> String {
        let mut text = TextTable::new();
        text.load_style(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(self.columns.iter().map(|column| column.replace('_', " ")))
            .add_rows(self.rows.iter().map(|row| row.iter().map(Cell::to_string)));
        for (index, column) in text.column_iter_mut().enumerate() {
            column.set_padding((0, 2));
            let is_text = |row: &Vec<Cell>| matches!(row.get(index), Some(Cell::Text(_)));
            if !self.rows.iter().any(is_text) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        text.to_string()
    }

    fn json(&self) -> Value {
        let row = |row: &Vec<Cell>| {
            let cells = self.columns.iter().zip(row);
            let cells = cells.map(|(column, cell)| ((*column).to_owned(), cell.json()));
            Value::Object(cells.collect())
        };
        self.rows.iter().map(row).collect()
    }

    fn csv(&self) -> Result<String, csv::Error> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&self.columns)?;
        for row in &self.rows {
            writer.write_record(row.iter().map(Cell::to_string))?;
        }
        let bytes = writer.into_inner().map_err(|error| error.into_error())?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
