/** QuickJS has no `Intl`: what asks for a locale or a time zone is refused, rather than answered as if it had not. */
export function refuseLocales(): void {
    refuse(Date.prototype, ['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString'])
    refuse(Number.prototype, ['toLocaleString'])
}

function refuse(prototype: object, names: string[]): void {
    for (const name of names) {
        const plain = (prototype as Record<string, (this: unknown) => string>)[name]
        const value = function (this: unknown, ...given: unknown[]): string {
            if (given.some((argument) => argument !== undefined)) {
                throw new TypeError(`${name}: there are no locales and time zones here (no Intl); format it yourself`)
            }
            return plain.call(this)
        }
        Object.defineProperty(prototype, name, { value, configurable: true, writable: true, enumerable: false })
    }
}
