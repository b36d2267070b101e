// Steps that several workflows use.
import { StepError, type StepContext } from 'rival'

/** Charges a card. It fails now and then, as the world does, and is tried again. */
export function chargeCard({ input, run, log }: StepContext<{ amount: number; card: string }>) {
    if (input.card === 'stolen') {
        throw new StepError('the card was reported stolen', { behavior: 'stop', code: 'card_stolen' })
    }
    if (run.attempt === 1 && input.card === 'flaky') {
        throw new StepError('the bank did not answer', { behavior: 'retry', maxAttempts: 3, backoffMs: 200 })
    }
    // The bank takes the same key twice for one payment.
    log.info({ key: run.idempotencyKey }, `charging ${input.amount}`)
    return { paymentId: `pay-${run.runId}`, amount: input.amount }
}

/** Gives the money back when a later step fails. */
export function refundCard({ result, log }: { result?: { paymentId: string }; log: StepContext['log'] }) {
    log.warn(`refunding ${result?.paymentId ?? 'a payment that may have happened'}`)
}
