import type { Observe } from '../../reporting/observe.ts'
import type { Store } from '../store.ts'

type LifeStore = Pick<
  Store,
  'stayAlive' | 'endInstance' | 'forgetOldLeases' | 'forgetOldWindows' | 'forgetOldRegisters'
>

/** Says to all on the same store that this instance lives, and works on what it has begun, until it leaves. */
export interface InstanceLife {
  endLife(): Promise<void>
}

/**
 * An instance counts as dead so long after its last sign, and others take over what it had in hand. Short, because
 * clients wait for that; an instance that only seemed dead does no harm, because each write is fenced.
 */
export const lifeMs = 4_000
const signEveryMs = 1_000
const tidyEveryMs = 60_000
const keepLeasesMs = 24 * 60 * 60_000

export async function beginInstanceLife(store: LifeStore, observe: Observe): Promise<InstanceLife> {
  await store.stayAlive(lifeMs)
  let isLost = false
  const signs = setInterval(() => void sign(), signEveryMs).unref()
  const tidying = setInterval(() => {
    void store.forgetOldWindows().catch(() => {})
    void store.forgetOldRegisters().catch(() => {})
    void store.forgetOldLeases(keepLeasesMs).catch(() => {})
  }, tidyEveryMs).unref()
  return {
    async endLife() {
      clearInterval(signs)
      clearInterval(tidying)
      await store.endInstance().catch(() => {})
    },
  }

  /** One that cannot be given is followed by the next. It is the write that is always tried: here a lost store is noticed first. */
  async function sign(): Promise<void> {
    try {
      await store.stayAlive(lifeMs)
      if (isLost) observe({ event: 'store_back' })
      isLost = false
    } catch (cause) {
      if (!isLost) observe({ event: 'store_lost', cause })
      isLost = true
    }
  }
}
