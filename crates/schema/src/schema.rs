//! What users hold: a schema, read once.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::node::{NodeId, SchemaNode};
use crate::read::SchemaReader;
use crate::text::TypeWriter;

/// How long a type is in a message, unless told.
const TEXT_MAX: usize = 120;

/// A JSON Schema in canonical form. It is cheap to clone, and a part of it is one, too.
#[derive(Clone)]
pub struct JsonSchema {
    nodes: Arc<[SchemaNode]>,
    root: NodeId,
}

/// A text that is no schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// Only objects and booleans are schemas.
    #[error("a schema is an object or a boolean")]
    NotASchema,
    /// Reading it would take too much memory.
    #[error("the schema has more than {nodes_max} parts")]
    TooLarge {
        /// The most parts that a schema may have.
        nodes_max: usize,
    },
}

impl JsonSchema {
    /// Reads a schema of any draft from 4 to 2020-12, by its `$schema`.
    ///
    /// What is malformed or not understood in it is no error: such a schema can be used, and comparisons that depend on the
    /// part in question say so.
    pub fn read(schema: &Value) -> Result<JsonSchema, SchemaError> {
        Ok(JsonSchema { nodes: SchemaReader::read(schema)?.into(), root: NodeId(0) })
    }

    /// The schema of every value.
    pub fn any() -> JsonSchema {
        JsonSchema { nodes: Arc::new([SchemaNode::default()]), root: NodeId(0) }
    }

    /// The schema as a type of TypeScript, at most about `length_max` characters long; what does not fit is `…`.
    pub fn type_text(&self, length_max: usize) -> String {
        TypeWriter::new(&self.nodes, length_max).write(&[self.root])
    }

    /// A schema of nodes that were made elsewhere.
    pub(crate) fn of_nodes(nodes: Vec<SchemaNode>, root: NodeId) -> JsonSchema {
        JsonSchema { nodes: nodes.into(), root }
    }

    /// The same of nodes that several schemas share.
    pub(crate) fn of_shared(nodes: Arc<[SchemaNode]>, root: NodeId) -> JsonSchema {
        JsonSchema { nodes, root }
    }

    pub(crate) fn root(&self) -> NodeId {
        self.root
    }

    pub(crate) fn nodes(&self) -> &[SchemaNode] {
        &self.nodes
    }

    /// The nodes that the root leads to, in their order.
    pub(crate) fn reachable(&self) -> Vec<NodeId> {
        let mut found = BTreeSet::from([self.root]);
        let mut open = vec![self.root];
        while let Some(id) = open.pop() {
            let mut node = self.nodes[id.0 as usize].clone();
            node.map_children(&mut |child| {
                if found.insert(child) {
                    open.push(child);
                }
                child
            });
        }
        found.into_iter().collect()
    }
}

/// As a type of TypeScript, short enough for a message.
impl fmt::Display for JsonSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.type_text(TEXT_MAX))
    }
}

impl fmt::Debug for JsonSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JsonSchema({self})")
    }
}
