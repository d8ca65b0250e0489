/**
 * Work that is the same for everybody who asks for it by the same name. Who asks before it begins shares it; who asks later may know of
 * something that it has passed already, and gets the next.
 */
export interface SharedWork<T> {
  join(name: string, work: (begin: () => void) => Promise<T>): Promise<T>
}

export function createSharedWork<T>(): SharedWork<T> {
  const waiting = new Map<string, Promise<T>>()
  return {
    join(name, work) {
      const known = waiting.get(name)
      if (known) return known
      let hasBegun = false
      const begin = () => {
        if (!hasBegun) waiting.delete(name)
        hasBegun = true
      }
      const shared = work(begin).finally(begin)
      // Where nobody was before it, it may have begun by now.
      if (!hasBegun) waiting.set(name, shared)
      return shared
    },
  }
}
