import { useEffect, useState } from 'react'
import { Button } from './button.tsx'
import { ScrollBox } from './scroll-box.tsx'

const copiedMs = 1_800

export function CopyButton({
  text,
  label = 'Copy',
  look = 'secondary',
}: {
  text: string
  label?: string
  look?: 'primary' | 'secondary' | 'quiet'
}) {
  const [isCopied, setIsCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setIsCopied(false), copiedMs)
    return () => clearTimeout(timer)
  }, [isCopied])
  return (
    <Button
      look={look}
      onClick={() =>
        navigator.clipboard.writeText(text).then(
          () => setIsCopied(true),
          () => {},
        )
      }
    >
      <span aria-live="polite">{isCopied ? 'Copied' : label}</span>
    </Button>
  )
}

/** Text to take away, with the button that takes it. */
export function CodeBlock({ code, label }: { code: string; label: string }) {
  return (
    <div className="group relative rounded-lg border border-line bg-sunken">
      <ScrollBox label={label} className="p-4 pr-24">
        <pre className="font-mono text-[13px] leading-relaxed">{code}</pre>
      </ScrollBox>
      <div className="absolute top-2 right-2">
        <CopyButton text={code} />
      </div>
    </div>
  )
}

/** One line, such as an address. */
export function CopyLine({ text, label }: { text: string; label: string }) {
  return (
    <div className="flex items-center gap-2 rounded-lg border border-line bg-sunken py-1.5 pr-1.5 pl-3">
      <code className="min-w-0 flex-1 truncate font-mono text-[13px]" title={text}>
        {text}
      </code>
      <CopyButton text={text} label="Copy" look="secondary" />
      <span className="sr-only">{label}</span>
    </div>
  )
}
