import type { SourceKind } from '../dashboard-parts.ts'
import { accountVerbs } from './account-verbs.ts'
import { connectVerbs } from './connect-verbs.ts'
import { connectionVerbs } from './connection-verbs.ts'
import { emailVerbs } from './email-verbs.ts'
import { fileVerbs } from './file-verbs.ts'
import { formVerbs } from './form-verbs.ts'
import { keyVerbs } from './key-verbs.ts'
import type { ProviderVerb, VerbAtPath, Verbs } from './route.ts'
import { sessionVerbs } from './session-verbs.ts'
import { sheetVerbs } from './sheet-verbs.ts'
import { webhookVerbs } from './webhook-verbs.ts'

export const apiPrefix = '/dashboard/api'

const verbs: Omit<Verbs, ProviderVerb> = {
  ...sessionVerbs,
  ...emailVerbs,
  ...sheetVerbs,
  ...connectVerbs,
  ...fileVerbs,
  ...keyVerbs,
  ...formVerbs,
  ...webhookVerbs,
  ...accountVerbs,
}

/** All of the owner's verbs, where these kinds of sources can be connected; tests that must miss none go through this list. */
export function routesFor(kinds: readonly Pick<SourceKind, 'id' | 'connectsBy'>[]): readonly VerbAtPath[] {
  return [...placeVerbs(verbs), ...kinds.flatMap(routesOfProvider)]
}

/** The provider is no open segment: every other word at its place is somebody else's, or nobody's. */
function routesOfProvider({ id, connectsBy }: Pick<SourceKind, 'id' | 'connectsBy'>): VerbAtPath[] {
  if (connectsBy.length === 0) return []
  const routes = placeVerbs(connectionVerbs(id, connectsBy))
  return routes.map((route) => ({ ...route, path: route.path.replace(/^\/\{\w+\}/, `/${id}`) }))
}

function placeVerbs(some: Partial<Verbs>): VerbAtPath[] {
  return Object.entries(some).map(([verb, route]) => {
    const [method = '', path = ''] = verb.split(' ')
    return { ...route, method, path, verbPath: path }
  })
}

export interface FoundRoute {
  route: VerbAtPath
  names: string[]
}

/** Every verb at this path, by method; null when there is nothing. */
export function findRoutes(routes: readonly VerbAtPath[], path: string): FoundRoute[] | null {
  if (!path.startsWith(`${apiPrefix}/`)) return null
  const segments = path.slice(apiPrefix.length + 1).split('/')
  const found = routes.flatMap((route) => {
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
    const name = decodeSegment(segment)
    if (name === null || name === '') return null
    names.push(name)
  }
  return names
}

function decodeSegment(segment: string): string | null {
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}
