/** No address that mail can be sent to is longer (RFC 5321, 4.5.3.1.3). */
const maxCharacters = 254

/** Whether it looks like one: that it exists is known only when somebody has answered. */
export function isEmailAddress(text: string): boolean {
  // In a longer text the pattern would try the rest behind each of its dots, for seconds.
  return text.length <= maxCharacters && /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text)
}
