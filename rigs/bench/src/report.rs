//! Figures, as a table and as JSON.

use std::fmt;

use serde::Serialize;

/// One measured figure.
#[derive(Clone, Debug, Serialize)]
pub struct BenchFigure {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Its unit.
    pub unit: String,
    /// What to know when reading it.
    pub note: String,
}

/// All figures of a run.
#[derive(Clone, Debug, Default)]
pub struct BenchReport {
    /// In the order they were taken.
    pub figures: Vec<BenchFigure>,
}

impl BenchReport {
    pub(crate) fn add(&mut self, name: &str, value: f64, unit: &str, note: impl Into<String>) {
        let figure = BenchFigure { name: name.to_owned(), value, unit: unit.to_owned(), note: note.into() };
        self.figures.push(figure);
    }

    /// The figures as a JSON list.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(&self.figures).expect("figures have only string keys and finite numbers")
    }
}

impl fmt::Display for BenchReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<26} {:>14}  {:<9} note", "figure", "value", "unit")?;
        for BenchFigure { name, value, unit, note } in &self.figures {
            let value = if value.abs() >= 1_000.0 { format!("{value:.0}") } else { format!("{value:.3}") };
            writeln!(f, "{name:<26} {value:>14}  {unit:<9} {note}")?;
        }
        Ok(())
    }
}
