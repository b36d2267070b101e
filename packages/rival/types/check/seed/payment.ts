function charge({ input }) {
    return { charged: true }
}

export const steps = [charge]
