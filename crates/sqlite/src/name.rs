//! Texts that many runs share, kept once: a run's row holds a number for its workflow and for its plan.
//!
//! Short rows are what makes ending a run cheap: the rows of all runs in flight lie on fewer pages, and
//! each page that changes is written whole.

use rusqlite::OptionalExtension;

use crate::fault::Result;
use crate::tables::WriterTables;

/// How many are remembered; past that all are forgotten and looked up again.
const REMEMBERED: usize = 4096;

impl WriterTables<'_> {
    /// The number of a text, given on first use.
    pub(crate) fn name(&mut self, text: &str) -> Result<i64> {
        if let Some(no) = self.names.get(text) {
            return Ok(*no);
        }
        let no = match self.find_name(text)? {
            Some(no) => no,
            None => self.sql("INSERT INTO names (text) VALUES (?1)")?.insert([text])?,
        };
        if self.names.len() >= REMEMBERED {
            self.names.clear();
        }
        self.names.insert(text.to_owned(), no);
        Ok(no)
    }

    fn find_name(&self, text: &str) -> Result<Option<i64>> {
        Ok(self
            .sql("SELECT no FROM names WHERE text = ?1")?
            .query_row([text], |row| row.get(0))
            .optional()?)
    }
}
