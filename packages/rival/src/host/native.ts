/** The realm's way to Rust. */
import type { Native } from '../native.ts'

export let native: Native

/** Called once, before anything else. */
export function connect(to: Native): void {
    native = to
}
