import type { Store } from '../../../store/store.ts'
import type { Persistence } from '../persistence.ts'

/** Claims of which the store's answer was lost: perhaps they are recorded, and nobody works on them. */
export interface UnheardClaims {
  /** Nobody waits for it: whoever asked has been told that the store is away. */
  freeUnheardKey(operationId: string): void
}

/** While the store is away every request with a key adds one. More are left to be found abandoned (`claimKey`). */
const maxUnheard = 1_000

export function createUnheardClaims(
  store: Pick<Store, 'dropOperations'>,
  persistence: Persistence,
): UnheardClaims {
  const unheard = new Set<string>()
  let isGivingBack = false

  return {
    freeUnheardKey(operationId) {
      if (unheard.size < maxUnheard) unheard.add(operationId)
      if (isGivingBack) return
      isGivingBack = true
      void persistence
        .until(giveAllBack)
        // The server is closing: whoever comes after it frees the keys of a dead instance.
        .catch(() => {})
        .then(() => {
          isGivingBack = false
        })
    },
  }

  async function giveAllBack(): Promise<void> {
    while (unheard.size > 0) {
      const ids = [...unheard]
      await store.dropOperations(ids)
      for (const id of ids) unheard.delete(id)
    }
  }
}
