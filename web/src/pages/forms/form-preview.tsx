import { useEffect, useRef, useState } from 'react'
import { formContent, formCss, type ShownForm } from '../../../../src/http/form-markup.ts'

const blank = { action: '', token: '', entries: new Map(), mistakes: new Map(), isPreview: true } as const

/** The very page that visitors get, by the code that makes theirs. It can be looked at and not filled in. */
export function FormPreview({ form }: { form: ShownForm }) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [heightPx, setHeightPx] = useState(480)
  const [isLoaded, setIsLoaded] = useState(false)
  const html = formContent(form, blank)
  useEffect(() => {
    const inside = frame.current?.contentDocument
    if (!isLoaded || !inside) return
    // Every text in it is escaped, and nothing runs in this frame.
    const main = inside.createElement('main')
    main.innerHTML = html
    inside.body.replaceChildren(main)
    const measure = () => setHeightPx(inside.body.scrollHeight)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(main)
    return () => observer.disconnect()
  }, [html, isLoaded])
  return (
    <iframe
      ref={frame}
      title="Preview of the form"
      sandbox="allow-same-origin"
      inert
      srcDoc="<!doctype html><html lang='en'><title>Preview</title><body></body></html>"
      onLoad={({ currentTarget: { contentDocument, contentWindow } }) => {
        // The app's content policy, which holds in here too, lets no page write styles as text.
        const Sheet = (contentWindow as (Window & typeof globalThis) | null)?.CSSStyleSheet
        if (!contentDocument || !Sheet) return
        const sheet = new Sheet()
        sheet.replaceSync(formCss)
        contentDocument.adoptedStyleSheets = [sheet]
        setIsLoaded(true)
      }}
      height={heightPx}
      className="block w-full rounded-xl border border-line bg-raised"
    />
  )
}
