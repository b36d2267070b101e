//! TypeScript for Rival: module graphs without types, what functions use, schemas of interfaces.
