import { useSyncExternalStore } from 'react'
import { Icon } from '../icon.tsx'

type Density = 'comfortable' | 'compact'

const storedAs = 'rowport-density'
/** Up to here all rows are seen at once either way. */
const shortList = 10
const listeners = new Set<() => void>()
/** Some browsers keep nothing for a page; the choice then lasts as long as the page. */
let chosenHere: Density | null = null

/** Lower rows, for what is long: the default there, unless this browser's owner has chosen otherwise. */
export function useIsDense(count: number): boolean {
  const density = useSyncExternalStore(subscribe, chosenDensity)
  return count > shortList && density === 'compact'
}

/** Above a list, and only where it is long enough to matter. One choice for all lists. */
export function DensitySwitch({ count }: { count: number }) {
  const density = useSyncExternalStore(subscribe, chosenDensity)
  if (count <= shortList) return null
  const other = density === 'compact' ? 'comfortable' : 'compact'
  const label = `Use ${other} rows`
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      onClick={() => choose(other)}
      className="ml-auto inline-flex size-9 shrink-0 items-center justify-center rounded-md text-soft hover:bg-sunken hover:text-ink"
    >
      <Icon name={other} />
    </button>
  )
}

function choose(density: Density): void {
  chosenHere = density
  try {
    localStorage.setItem(storedAs, density)
  } catch {
    // Full or forbidden: see `chosenHere`.
  }
  for (const tell of listeners) tell()
}

function chosenDensity(): Density {
  return chosenHere ?? (localStorage.getItem(storedAs) === 'comfortable' ? 'comfortable' : 'compact')
}

function subscribe(listener: () => void): () => void {
  // Also from another tab.
  const onStorage = () => {
    chosenHere = null
    listener()
  }
  listeners.add(listener)
  window.addEventListener('storage', onStorage)
  return () => {
    listeners.delete(listener)
    window.removeEventListener('storage', onStorage)
  }
}
