/** Does the work of each account one after the other: a hundred that are asked for at once would be in memory together. */
export interface OneAfterAnother {
  /** Begins when all that came before it for the account is over, however it ended. */
  whenItsTurnComes<T>(accountId: string, work: () => Promise<T>): Promise<T>
}

export function createOneAfterAnother(): OneAfterAnother {
  const lastOf = new Map<string, Promise<unknown>>()
  return {
    whenItsTurnComes(accountId, work) {
      const done = (lastOf.get(accountId) ?? Promise.resolve()).then(work)
      const settled = done
        .catch(() => {})
        .then(() => {
          if (lastOf.get(accountId) === settled) lastOf.delete(accountId)
        })
      lastOf.set(accountId, settled)
      return done
    },
  }
}
