import { useSyncExternalStore } from 'react'

/** No answer comes from the server any more. */
interface Silence {
  /** When the last one came. */
  sinceMs: number
  isOffline: boolean
}

/** One request may be lost on a change of page or of network. */
const failuresOfSilence = 2
const isOwnMachine = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(window.location.hostname)

const listeners = new Set<() => void>()
let answeredAtMs = Date.now()
let failures = 0
let silence: Silence | null = null

/** The browser has no network, and the server is somewhere else: what is sent now does not arrive. */
export function isCutOff(): boolean {
  return !navigator.onLine && !isOwnMachine
}

export function noteAnswer(): void {
  answeredAtMs = Date.now()
  failures = 0
  become(null)
}

export function noteFailure(): void {
  failures++
  const isOffline = isCutOff()
  if (isOffline || failures >= failuresOfSilence) become({ sinceMs: answeredAtMs, isOffline })
}

/** null while the server answers. */
export function useSilence(): Silence | null {
  return useSyncExternalStore(subscribe, () => silence)
}

function become(next: Silence | null): void {
  if (next?.sinceMs === silence?.sinceMs && next?.isOffline === silence?.isOffline) return
  silence = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
