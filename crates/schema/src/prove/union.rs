//! `allOf`, `anyOf`, `oneOf`, `not` and `if` on the right side.

use super::{ProofDoubt, ProofResult, SchemaComparison, doubt};
use crate::flat::FlatView;
use crate::node::{ConditionRule, NodeId, SchemaNode};
use crate::workspace::NodeSet;

impl SchemaComparison {
    pub(super) fn prove_logic(&mut self, left: &NodeSet, view: &FlatView, node: &SchemaNode) -> ProofResult {
        node.all_of.iter().try_for_each(|to| self.prove(left, *to))?;
        if !node.any_of.is_empty() {
            self.prove_any(left, &node.any_of)?;
        }
        if !node.one_of.is_empty() {
            self.prove_one(left, &node.one_of)?;
        }
        if let Some(to) = node.not {
            self.prove_not(left, view, to)?;
        }
        match &node.condition {
            Some(rule) => self.prove_condition(left, rule),
            None => Ok(()),
        }
    }

    fn prove_any(&mut self, left: &NodeSet, members: &[NodeId]) -> ProofResult {
        let mut doubts: Vec<Box<ProofDoubt>> = Vec::new();
        for member in members {
            match self.prove(left, *member) {
                Ok(()) => return Ok(()),
                Err(doubt) => doubts.push(doubt),
            }
        }
        // The member that is nearest says most.
        let nearest = doubts.into_iter().max_by_key(|doubt| doubt.path.len());
        match nearest {
            Some(nearest) if !nearest.path.is_empty() => Err(nearest),
            _ => doubt(format!(
                "it is `{}`, which is not known to be of a member of `{}`",
                self.text(left.ids()),
                self.union_text(members)
            )),
        }
    }

    fn union_text(&self, members: &[NodeId]) -> String {
        let texts = members.iter().take(8).map(|id| self.text(&[*id])).collect::<Vec<_>>();
        crate::text::shorten(&texts.join(" | "), super::TYPE_TEXT_MAX)
    }

    /// One member takes it, and no other can take any of it.
    fn prove_one(&mut self, left: &NodeSet, members: &[NodeId]) -> ProofResult {
        let mut first = doubt("no member of `oneOf` is known to take it");
        for (at, member) in members.iter().enumerate() {
            if let Err(found) = self.prove(left, *member) {
                if !found.path.is_empty() {
                    first = Err(found);
                }
                continue;
            }
            let others = members.iter().enumerate().filter(|(other, _)| *other != at);
            let others: Vec<NodeId> = others.map(|(_, id)| *id).collect();
            let is_alone = others.into_iter().all(|other| {
                let both = self.space.with(left, other);
                self.space.node(other).kinds.is_empty() || (!both.eq(left) && self.is_empty(&both))
            });
            if is_alone {
                return Ok(());
            }
            return doubt("more than one member of `oneOf` may take it");
        }
        first
    }

    /// Nothing of it satisfies the schema that is excluded.
    fn prove_not(&mut self, left: &NodeSet, view: &FlatView, excluded: NodeId) -> ProofResult {
        let both = self.space.with(left, excluded);
        if self.space.node(excluded).kinds.is_empty() || (both != *left && self.is_empty(&both)) {
            return Ok(());
        }
        let known: Vec<NodeId> = view.nodes.iter().filter_map(|id| self.space.node(*id).not).collect();
        let wider = self.space.set([excluded]);
        if known.into_iter().any(|it| self.prove(&wider, it).is_ok()) {
            return Ok(());
        }
        doubt("it may be what `not` excludes")
    }

    fn prove_condition(&mut self, left: &NodeSet, rule: &ConditionRule) -> ProofResult {
        if let Some(then) = rule.then {
            let tested = self.space.with(left, rule.test);
            self.prove(&tested, then)?;
        }
        if let Some(otherwise) = rule.otherwise
            && self.prove(left, rule.test).is_err()
        {
            let refused = self.space.without(rule.test);
            let refused = self.space.with(left, refused);
            self.prove(&refused, otherwise)?;
        }
        Ok(())
    }
}
