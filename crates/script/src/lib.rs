//! Workflows as TypeScript files.
