/** Refreshes that nobody waits for: one at a time for each owner's ration, the oldest copy first. */
export interface BackgroundRefresh {
  /** Asked again for the same name before its turn came, it changes nothing. */
  ask(wish: RefreshWish): void
}

export interface RefreshWish {
  name: string
  /** Whose ration it is taken from. */
  group: string
  checkedAtMs: number
  refresh(): Promise<unknown>
}

interface RefreshGroup {
  waiting: Map<string, RefreshWish>
  running: string
}

export function createBackgroundRefresh(): BackgroundRefresh {
  const groups = new Map<string, RefreshGroup>()

  return {
    ask(wish) {
      const group = groups.get(wish.group)
      if (!group) void work(wish)
      else if (group.running !== wish.name && !group.waiting.has(wish.name))
        group.waiting.set(wish.name, wish)
    },
  }

  async function work(first: RefreshWish): Promise<void> {
    const group: RefreshGroup = { waiting: new Map(), running: first.name }
    groups.set(first.group, group)
    let next: RefreshWish | undefined = first
    while (next) {
      group.running = next.name
      // Whoever fetched has reported it; the copy goes on being served as long as it may.
      await next.refresh().catch(() => {})
      next = oldest(group.waiting)
      if (next) group.waiting.delete(next.name)
    }
    groups.delete(first.group)
  }
}

function oldest(waiting: ReadonlyMap<string, RefreshWish>): RefreshWish | undefined {
  let found: RefreshWish | undefined
  for (const wish of waiting.values()) if (!found || wish.checkedAtMs < found.checkedAtMs) found = wish
  return found
}
