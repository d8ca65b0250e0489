import assert from 'node:assert/strict'
import type { Provider } from '../../src/sheets/provider.ts'
import type { Rowport } from '../harness.ts'

/** A write to a file that stops half way, for tests of what happens to others meanwhile. */
export interface HeldWrites {
  /** Resolves when the next write is judged, admitted and about to be prepared: it waits there. */
  isHeld: Promise<void>
  /** It goes on, and so do all after it. */
  release(): void
}

export function holdWrites({ workshop }: Rowport): HeldWrites {
  const providers = workshop.providers as Map<string, Provider>
  const files = providers.get('file')
  assert.ok(files)
  const held = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  providers.set('file', {
    ...files,
    async prepare(place, changes, version) {
      held.resolve()
      await released.promise
      return files.prepare(place, changes, version)
    },
  })
  return {
    isHeld: held.promise,
    release() {
      providers.set('file', files)
      released.resolve()
    },
  }
}
