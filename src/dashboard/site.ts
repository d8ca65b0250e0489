/** Where people reach this server, as pages need to know it. */
export interface Site {
  /** Without a slash at the end. */
  baseUrl: string
  origin: string
  /** What a proxy takes away before the request reaches us: '' or `/rowport`. */
  basePath: string
  isSecure: boolean
}

export function siteAt(baseUrl: string): Site {
  const { origin, pathname, protocol } = new URL(baseUrl)
  return { baseUrl, origin, basePath: pathname === '/' ? '' : pathname, isSecure: protocol === 'https:' }
}
