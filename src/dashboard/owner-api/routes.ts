import { accountRoutes } from './account-verbs.ts'
import { connectRoutes } from './connect-verbs.ts'
import { fileRoutes } from './file-verbs.ts'
import { googleRoutes } from './google-verbs.ts'
import { keyRoutes } from './key-verbs.ts'
import type { Route } from './route.ts'
import { sessionRoutes } from './session-verbs.ts'
import { sheetRoutes } from './sheet-verbs.ts'

export const apiPrefix = '/dashboard/api'

/** All of the owner's verbs; tests that must miss none go through this list. */
export const allRoutes: readonly Route[] = [
  ...sessionRoutes,
  ...sheetRoutes,
  ...connectRoutes,
  ...fileRoutes,
  ...googleRoutes,
  ...keyRoutes,
  ...accountRoutes,
]

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
