//! A node's identity: its path in the plan, with the iteration where there is one.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The path of a node within a run: `setup/db/createUser`, `items[17]/charge`.
///
/// The empty path is the run itself, the outermost workflow. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Path(Arc<str>);

impl Path {
    /// The run itself.
    pub fn root() -> Self {
        Self(Arc::from(""))
    }

    /// A path from text, as events carry it.
    pub fn new(path: impl Into<Arc<str>>) -> Self {
        Self(path.into())
    }

    /// Whether this is the run itself.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path of a child node.
    #[must_use]
    pub fn child(&self, id: &str) -> Self {
        if self.is_root() { Self::new(id) } else { Self(Arc::from(format!("{}/{id}", self.0))) }
    }

    /// The path of the node that contains this one, iteration included; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        if self.is_root() {
            return None;
        }
        Some(match self.0.rfind('/') {
            Some(at) => Self::new(&self.0[..at]),
            None => Self::root(),
        })
    }

    /// The last segment, without its iteration: the node's id in its block.
    pub fn id(&self) -> &str {
        let last = self.0.rsplit('/').next().unwrap_or("");
        last.split('[').next().unwrap_or(last)
    }

    /// The path in the plan: this one without iterations.
    pub fn in_plan(&self) -> Cow<'_, str> {
        if !self.0.contains('[') {
            return Cow::Borrowed(&self.0);
        }
        let mut out = String::with_capacity(self.0.len());
        let mut inside = false;
        for c in self.0.chars() {
            match c {
                '[' => inside = true,
                ']' => inside = false,
                _ if !inside => out.push(c),
                _ => {}
            }
        }
        Cow::Owned(out)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Path({})", self.0)
    }
}

impl From<&str> for Path {
    fn from(path: &str) -> Self {
        Self::new(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_knows_its_parent_and_its_place_in_the_plan() {
        let path = Path::from("setup/items[17]/charge");
        assert_eq!(path.id(), "charge");
        assert_eq!(path.parent(), Some(Path::from("setup/items[17]")));
        assert_eq!(path.in_plan(), "setup/items/charge");
        assert_eq!(Path::from("a").parent(), Some(Path::root()));
        assert_eq!(Path::root().parent(), None);
        assert_eq!(Path::root().child("a").child("b").as_str(), "a/b");
        assert_eq!(Path::from("items[3]").id(), "items");
    }
}
