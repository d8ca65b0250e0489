import { lazyRouteComponent } from '@tanstack/react-router'

/** The code of a page did not arrive: there is no network, or a newer server has other files. */
export class PageNotLoaded extends Error {}

const importers: (() => Promise<unknown>)[] = []

/**
 * A page that is loaded when it is first opened. The router would reload the whole app when that fails, which without a
 * network ends in the browser's own page; here the frame stays, and says what happened.
 */
export const pageIn: typeof lazyRouteComponent = (importer, name) => {
  importers.push(importer)
  return lazyRouteComponent(
    () =>
      importer().catch((cause: unknown) => {
        throw new PageNotLoaded('The page could not be loaded', { cause })
      }),
    name,
  )
}

/** All of them together are small. Whoever is cut off later has them. */
export function loadPagesAhead(): void {
  for (const importer of importers) importer().catch(() => {})
}
