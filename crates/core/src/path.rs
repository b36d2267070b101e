//! A node's identity: its path in the plan, with the iteration where there is one.

use std::borrow::{Borrow, Cow};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Bound;
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};

/// The path of a node within a run: `setup/db/createUser`, `items[17]/charge`.
///
/// The empty path is the run itself, the outermost workflow. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(value_type = String))]
pub struct Path(Arc<str>);

impl Path {
    /// The run itself.
    pub fn root() -> Self {
        static ROOT: LazyLock<Path> = LazyLock::new(|| Path(Arc::from("")));
        ROOT.clone()
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

    /// The lane of a loop or forEach at this path.
    #[must_use]
    pub fn iteration(&self, index: u32) -> Self {
        Self(Arc::from(format!("{}[{index}]", self.0)))
    }

    /// The loop or forEach that an iteration's path belongs to, and which iteration it is.
    pub fn as_iteration(&self) -> Option<(Self, u32)> {
        let (node, index) = self.0.strip_suffix(']')?.rsplit_once('[')?;
        Some((Self::new(node), index.parse().ok()?))
    }

    /// Whether this path lies inside of `scope`; a path is not inside of itself.
    pub fn is_within(&self, scope: &Self) -> bool {
        if scope.is_root() {
            return !self.is_root();
        }
        self.0.strip_prefix(&*scope.0).is_some_and(|rest| rest.starts_with(['/', '[']))
    }

    /// The path and everything around it, from the inside out, the run itself last. Of `a/b[1]/c` these are
    /// `a/b[1]/c`, `a/b[1]`, `a/b`, `a` and the root.
    pub fn around(&self) -> impl Iterator<Item = Self> {
        let text = Arc::clone(&self.0);
        let mut end = Some(text.len());
        std::iter::from_fn(move || {
            let at = end?;
            let this = &text[..at];
            end = if at == 0 { None } else { Some(this.rfind(['/', '[']).unwrap_or(0)) };
            Some(Self(Arc::from(this)))
        })
    }

    /// Which comes first, with iterations by their numbers: `items[2]` before `items[10]`. Paths themselves are ordered as text.
    pub fn cmp_in_order(&self, other: &Self) -> Ordering {
        let (mut left, mut right) = (self.0.split('['), other.0.split('['));
        loop {
            let (a, b) = match (left.next(), right.next()) {
                (Some(a), Some(b)) => (a, b),
                (a, b) => return a.cmp(&b),
            };
            let number = |part: &str| part.split_once(']').and_then(|(n, _)| n.parse::<u32>().ok());
            let order = number(a).cmp(&number(b)).then_with(|| a.cmp(b));
            if order.is_ne() {
                return order;
            }
        }
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

impl Borrow<str> for Path {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// How the paths inside of a scope begin: they are two ranges of any ordered set, `scope/…` and `scope[…`.
fn beginnings(scope: &Path) -> impl Iterator<Item = String> + use<> {
    let text =
        if scope.is_root() { vec![String::new()] } else { vec![format!("{scope}/"), format!("{scope}[")] };
    text.into_iter()
}

/// The paths of an ordered set that lie inside of `scope`.
pub(crate) fn within<'a>(set: &'a BTreeSet<Path>, scope: &Path) -> impl Iterator<Item = &'a Path> + use<'a> {
    let inside = beginnings(scope).flat_map(|start| {
        let range = set.range::<str, _>((Bound::Included(start.as_str()), Bound::Unbounded));
        range.take_while(move |path| path.as_str().starts_with(&start))
    });
    inside.filter(|path| !path.is_root())
}

/// The same for the keys of a map.
pub(crate) fn keys_within<'a, T>(
    map: &'a BTreeMap<Path, T>,
    scope: &Path,
) -> impl Iterator<Item = (&'a Path, &'a T)> + use<'a, T> {
    let inside = beginnings(scope).flat_map(|start| {
        let range = map.range::<str, _>((Bound::Included(start.as_str()), Bound::Unbounded));
        range.take_while(move |(path, _)| path.as_str().starts_with(&start))
    });
    inside.filter(|(path, _)| !path.is_root())
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
        assert_eq!(Path::from("a/items").iteration(3).as_iteration(), Some((Path::from("a/items"), 3)));
        assert_eq!(Path::from("a[1]/items").as_iteration(), None);
    }

    #[test]
    fn iterations_are_ordered_by_their_numbers() {
        let ordered = ["a", "a[2]", "a[2]/b", "a[2]/b[9]/c", "a[2]/b[10]/c", "a[10]", "a[10]/b", "b"];
        let mut sorted: Vec<Path> = ordered.into_iter().rev().map(Path::from).collect();
        sorted.sort_by(Path::cmp_in_order);
        assert_eq!(sorted.iter().map(Path::as_str).collect::<Vec<_>>(), ordered);
    }

    #[test]
    fn a_path_knows_what_is_around_it() {
        let around: Vec<String> = Path::from("a/b[1]/c").around().map(|path| path.to_string()).collect();
        assert_eq!(around, ["a/b[1]/c", "a/b[1]", "a/b", "a", ""]);
        assert_eq!(Path::root().around().count(), 1);
    }

    #[test]
    fn what_lies_inside_of_a_scope_is_found_in_an_ordered_set() {
        let paths = ["", "a", "a/x", "a2", "a2/x", "a[0]/y", "a[10]", "b"];
        let set: BTreeSet<Path> = paths.into_iter().map(Path::from).collect();
        for scope in ["", "a", "a2", "b", "a[10]", "z"] {
            let scope = Path::from(scope);
            let mut found: Vec<&Path> = within(&set, &scope).collect();
            found.sort();
            let expected: Vec<&Path> = set.iter().filter(|path| path.is_within(&scope)).collect();
            assert_eq!(found, expected, "inside of `{scope}`");
        }
    }
}
