/** Text in which `backticks` mark what is typed. */
export function Prose({ text }: { text: string }) {
  return text.split(/(`[^`]+`)/).map((part, place) =>
    part.startsWith('`') && part.length > 2 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: The parts of a text never change places.
      <code key={place} className="font-mono text-[13px]">
        {part.slice(1, -1)}
      </code>
    ) : (
      part
    ),
  )
}
