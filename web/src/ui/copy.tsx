import { useEffect, useState } from 'react'
import { Button } from './button.tsx'
import { ScrollBox } from './scroll-box.tsx'

const copiedMs = 1_800

export function CopyButton({
  text,
  label = 'Copy',
  about,
  look = 'secondary',
}: {
  text: string
  label?: string
  /** What is copied, for those who cannot see what it stands beside. */
  about?: string
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
      className="h-7! px-2.5! text-[13px]!"
      onClick={() =>
        navigator.clipboard.writeText(text).then(
          () => setIsCopied(true),
          () => {},
        )
      }
    >
      {/* Both words lie in one place, so that the button keeps its width. */}
      <span aria-live="polite" className="grid *:col-start-1 *:row-start-1">
        <span className={isCopied ? 'invisible' : ''}>
          {label}
          {about && <span className="sr-only"> {about}</span>}
        </span>
        {isCopied && <span>Copied</span>}
      </span>
    </Button>
  )
}

/** Text to take away, with the button that takes it. */
export function CodeBlock({ code, label }: { code: string; label: string }) {
  return (
    <div className="flex items-start gap-2 rounded-lg border border-line bg-sunken p-2 pl-0">
      <ScrollBox label={label} className="min-w-0 flex-1 rounded-md py-[3px] pl-4">
        <pre className="font-mono text-[13px] leading-relaxed">{code}</pre>
      </ScrollBox>
      <CopyButton text={code} />
    </div>
  )
}

/** One line, such as an address. */
export function CopyLine({ text, label }: { text: string; label: string }) {
  return (
    <div className="flex items-center gap-2 rounded-lg border border-line bg-sunken p-2 pl-4">
      <code className="min-w-0 flex-1 font-mono text-[13px] break-all">{text}</code>
      <CopyButton text={text} about={label} />
    </div>
  )
}
