import { useRouterState } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { loadPagesAhead } from './page-loading.ts'

const longestWaitMs = 3_000

/**
 * Says where one is after a change of page: to the eye by a line while it is on its way, to the ear by its title, and to the
 * keyboard by the focus, which would otherwise fall to nowhere with the link or button that was pressed.
 */
export function PageChange() {
  const isOnItsWay = useRouterState({ select: ({ status }) => status === 'pending' })
  const address = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.href })
  const former = useRef(address)
  const [title, setTitle] = useState('')
  useEffect(() => {
    const timer = setTimeout(loadPagesAhead, 1_000)
    return () => clearTimeout(timer)
  }, [])
  useEffect(() => {
    if (former.current === address) return
    const isFirst = former.current === undefined
    former.current = address
    if (isFirst) return
    const begunMs = performance.now()
    let frame = requestAnimationFrame(function look() {
      const heading =
        document.querySelector<HTMLElement>('main [data-step]') ??
        document.querySelector<HTMLElement>('main h1')
      if (!heading && performance.now() - begunMs < longestWaitMs) {
        frame = requestAnimationFrame(look)
        return
      }
      setTitle(document.title)
      if (document.activeElement === document.body) heading?.focus({ preventScroll: true })
    })
    return () => cancelAnimationFrame(frame)
  }, [address])
  return (
    <>
      {isOnItsWay && <div aria-hidden="true" className="on-its-way" />}
      <p aria-live="polite" className="sr-only">
        {title}
      </p>
    </>
  )
}
