import { accountVerbs } from './account-verbs.ts'
import { connectVerbs } from './connect-verbs.ts'
import { fileVerbs } from './file-verbs.ts'
import { googleVerbs } from './google-verbs.ts'
import { keyVerbs } from './key-verbs.ts'
import type { Route, Verbs } from './route.ts'
import { sessionVerbs } from './session-verbs.ts'
import { sheetVerbs } from './sheet-verbs.ts'

export const apiPrefix = '/dashboard/api'

const verbs: Verbs = {
  ...sessionVerbs,
  ...sheetVerbs,
  ...connectVerbs,
  ...fileVerbs,
  ...googleVerbs,
  ...keyVerbs,
  ...accountVerbs,
}

/** All of the owner's verbs; tests that must miss none go through this list. */
export const allRoutes: readonly Route[] = Object.entries(verbs).map(([verb, route]) => {
  const [method = '', path = ''] = verb.split(' ')
  return { ...route, method, path }
})

export interface FoundRoute {
  route: Route
  names: string[]
}

/** Every verb at this path, by method; null when there is nothing. */
export function findRoutes(path: string): FoundRoute[] | null {
  if (!path.startsWith(`${apiPrefix}/`)) return null
  const segments = path.slice(apiPrefix.length + 1).split('/')
  const found = allRoutes.flatMap((route) => {
    const names = namesIn(route.path.slice(1).split('/'), segments)
    return names ? [{ route, names }] : []
  })
  return found.length === 0 ? null : found
}

function namesIn(pattern: readonly string[], segments: readonly string[]): string[] | null {
  if (pattern.length !== segments.length) return null
  const names: string[] = []
  for (const [at, part] of pattern.entries()) {
    const segment = segments[at] ?? ''
    if (!part.startsWith('{')) {
      if (part !== segment) return null
      continue
    }
    const name = decoded(segment)
    if (name === null || name === '') return null
    names.push(name)
  }
  return names
}

function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}
