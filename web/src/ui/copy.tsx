import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'
import { ScrollBox } from './scroll-box.tsx'

const copiedMs = 1_800
const copyKeys = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘C' : 'Ctrl+C'

interface Copying {
  text: string
  /** Where the text stands on the page, to be selected when nothing else copies it. */
  shown: RefObject<HTMLElement | null>
  state: 'idle' | 'copied' | 'selected'
  copy(from: Element): Promise<void>
  /** On what surrounds the text: whoever copies by hand has copied too. */
  onCopy(): void
}

export function useCopying(text: string, onCopied?: () => void): Copying {
  const shown = useRef<HTMLElement>(null)
  const [state, setState] = useState<Copying['state']>('idle')
  useEffect(() => {
    if (state !== 'copied') return
    const timer = setTimeout(() => setState('idle'), copiedMs)
    return () => clearTimeout(timer)
  }, [state])
  function succeed() {
    setState('copied')
    onCopied?.()
  }
  return {
    text,
    shown,
    state,
    async copy(from) {
      if (await copyText(text, from)) return succeed()
      if (shown.current) getSelection()?.selectAllChildren(shown.current)
      setState('selected')
    },
    onCopy() {
      if (String(getSelection()).includes(text.trim())) succeed()
    },
  }
}

export function CopyButton({
  copying: { state, copy },
  label = 'Copy',
  about,
  look = 'secondary',
}: {
  copying: Copying
  label?: string
  /** What is copied, for those who cannot see what it stands beside. */
  about?: string
  look?: 'primary' | 'secondary' | 'quiet'
}) {
  const isCopied = state === 'copied'
  return (
    <Button
      look={look}
      className="h-7! px-2.5! text-caption!"
      onClick={({ currentTarget }) => void copy(currentTarget)}
    >
      {/* Both words lie in one place, so that the button keeps its width. */}
      <span aria-live="polite" className="grid *:col-start-1 *:row-start-1">
        <span className={`flex items-center gap-1.5 ${isCopied ? 'invisible' : ''}`}>
          <Icon name="copy" className="size-3.5!" />
          {label}
          {about && <span className="sr-only"> {about}</span>}
        </span>
        {isCopied && (
          <span className="flex items-center gap-1.5">
            <Icon name="done" className="size-3.5!" />
            Copied
          </span>
        )}
      </span>
    </Button>
  )
}

/** The text with its button, and what to do where the browser lets no page copy. */
export function CopyFrame({
  copying,
  className,
  children,
}: {
  copying: Copying
  className: string
  children: ReactNode
}) {
  return (
    <div onCopy={copying.onCopy}>
      <div className={`rounded-lg border border-line bg-sunken p-2 ${className}`}>{children}</div>
      <p role="alert" className="mt-1.5 text-caption text-warn empty:hidden">
        {copying.state === 'selected' && `The text is selected. Press ${copyKeys} to copy it.`}
      </p>
    </div>
  )
}

/** Text to take away, with the button that takes it. */
export function CodeBlock({ code, label }: { code: string; label: string }) {
  const copying = useCopying(code)
  return (
    <CopyFrame copying={copying} className="relative pr-0 pl-0">
      <ScrollBox label={label} className="rounded-md py-[3px] pl-4">
        {/* The button lies over the first line alone, whose end comes out from under it by scrolling. */}
        <pre
          ref={copying.shown as RefObject<HTMLPreElement | null>}
          className="w-max pr-24 font-mono text-caption leading-relaxed"
        >
          {code}
        </pre>
      </ScrollBox>
      {/* What lies under it fades out, instead of looking out at the other side. */}
      <span className="pointer-events-none absolute top-px right-px rounded-lg bg-linear-to-r from-transparent to-sunken to-30% py-[7px] pr-[7px] pl-10 *:pointer-events-auto">
        <CopyButton copying={copying} />
      </span>
    </CopyFrame>
  )
}

/** One line, such as an address or a command; where it is too long, it breaks between words, and within one only if it must. */
export function CopyLine({ text, label }: { text: string; label: string }) {
  const copying = useCopying(text)
  return (
    <CopyFrame copying={copying} className="flex items-center gap-2 pl-4">
      <code ref={copying.shown} className="min-w-0 flex-1 font-mono text-caption wrap-anywhere">
        {text}
      </code>
      <CopyButton copying={copying} about={label} />
    </CopyFrame>
  )
}

/** Whether it worked. `from`: the button that was pressed; a modal makes everything outside of it unselectable. */
async function copyText(text: string, from: Element): Promise<boolean> {
  // Browsers have no clipboard on plain HTTP by any name but localhost.
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text)
      return true
    } catch {
      // Forbidden; the older way asks for no permission.
    }
  }
  return copyBySelection(text, from)
}

function copyBySelection(text: string, from: Element): boolean {
  const focused = document.activeElement
  const field = document.createElement('textarea')
  field.value = text
  field.readOnly = true
  field.className = 'sr-only'
  ;(from.closest('dialog') ?? document.body).append(field)
  field.select()
  try {
    return document.execCommand('copy')
  } catch {
    return false
  } finally {
    field.remove()
    if (focused instanceof HTMLElement) focused.focus()
  }
}
