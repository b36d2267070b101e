export function validateInput({ input }) {
    return { valid: true }
}
