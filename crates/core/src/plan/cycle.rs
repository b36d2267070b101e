//! Dependencies that go round.

use std::collections::BTreeMap;

use super::Node;

/// The ids of nodes that wait for each other, each for the next, ending with the first again; `None` if the
/// nodes can be put in an order.
pub(super) fn find(nodes: &[Node]) -> Option<Vec<String>> {
    let mut search = Search { nodes, numbers: BTreeMap::new(), seen: vec![VisitMark::No; nodes.len()] };
    search.numbers = nodes.iter().enumerate().map(|(number, node)| (node.id.as_str(), number)).collect();
    (0..nodes.len()).find_map(|number| search.from(number))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum VisitMark {
    No,
    OnTheWay,
    Done,
}

struct Search<'a> {
    nodes: &'a [Node],
    numbers: BTreeMap<&'a str, usize>,
    seen: Vec<VisitMark>,
}

impl Search<'_> {
    /// Follows dependencies from one node. The way is a list and not the stack: a chain may be long.
    fn from(&mut self, start: usize) -> Option<Vec<String>> {
        if self.seen[start] != VisitMark::No {
            return None;
        }
        // Each node on the way, with how many of its dependencies have been followed.
        let mut way = vec![(start, 0)];
        self.seen[start] = VisitMark::OnTheWay;
        while let Some((number, followed)) = way.last_mut() {
            let number = *number;
            let Some(after) = self.nodes[number].after.get(*followed) else {
                self.seen[number] = VisitMark::Done;
                way.pop();
                continue;
            };
            *followed += 1;
            // One that is not there is reported by itself.
            let Some(&next) = self.numbers.get(after.as_str()) else { continue };
            match self.seen[next] {
                VisitMark::Done => {}
                VisitMark::No => {
                    self.seen[next] = VisitMark::OnTheWay;
                    way.push((next, 0));
                }
                VisitMark::OnTheWay => {
                    let round = way.iter().skip_while(|(number, _)| *number != next);
                    let ids = round.map(|(number, _)| *number).chain([next]);
                    return Some(ids.map(|number| self.nodes[number].id.clone()).collect());
                }
            }
        }
        None
    }
}
