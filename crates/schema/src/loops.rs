//! Schemas that judge a value by judging the same value again.
//!
//! `{"not": {"$ref": "#"}}` has no meaning, and validators do not end on it. Such nodes are emptied, and say so; everything
//! that is proven elsewhere may rely on the rest.

use crate::node::{NodeId, SchemaNode};

/// Empties the nodes that lead back to themselves without a step into the value.
pub(crate) fn void_loops(nodes: &mut [SchemaNode]) {
    let edges: Vec<Vec<usize>> = nodes.iter().map(in_place).collect();
    let mut backwards: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for (from, targets) in edges.iter().enumerate() {
        targets.iter().for_each(|to| backwards[*to].push(from));
    }
    // What is left when all ends and all beginnings are taken away, again and again, is on a loop, or between two.
    let mut is_left = vec![true; nodes.len()];
    peel(&edges, &backwards, &mut is_left);
    peel(&backwards, &edges, &mut is_left);
    for (node, _) in nodes.iter_mut().zip(is_left).filter(|(_, is_left)| *is_left) {
        let mut void = SchemaNode { name: node.name.take(), ..SchemaNode::default() };
        void.puzzle("a schema refers to itself with nothing in between".to_owned());
        *node = void;
    }
}

/// Takes away nodes without edges until all have one.
fn peel(edges: &[Vec<usize>], backwards: &[Vec<usize>], is_left: &mut [bool]) {
    let mut counts: Vec<usize> =
        edges.iter().map(|targets| targets.iter().filter(|to| is_left[**to]).count()).collect();
    let mut open: Vec<usize> = (0..edges.len()).filter(|at| is_left[*at] && counts[*at] == 0).collect();
    while let Some(at) = open.pop() {
        is_left[at] = false;
        for from in backwards[at].iter().filter(|from| is_left[**from]) {
            counts[*from] -= 1;
            if counts[*from] == 0 {
                open.push(*from);
            }
        }
    }
}

/// The schemas by which a node judges the value itself.
fn in_place(node: &SchemaNode) -> Vec<usize> {
    let mut ids: Vec<NodeId> =
        [&node.all_of, &node.any_of, &node.one_of].into_iter().flatten().copied().collect();
    ids.extend(node.not);
    ids.extend(node.object.dependent_schemas.values());
    if let Some(rule) = &node.condition {
        ids.push(rule.test);
        ids.extend(rule.then.into_iter().chain(rule.otherwise));
    }
    ids.into_iter().map(|id| id.0 as usize).collect()
}
