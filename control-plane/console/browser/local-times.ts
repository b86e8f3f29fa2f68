/** Times of a page in the viewer's own zone, as the server writes UTC: `2026-03-02 14:05`. */
const VIEWERS = new Intl.DateTimeFormat().resolvedOptions().timeZone

/** Swedish is written as ISO 8601 is. */
export function dateTimeFormat(timeZone: string, hasTime = true, hasSeconds = false) {
  return new Intl.DateTimeFormat('sv-SE', {
    dateStyle: 'short',
    ...(hasTime && { timeStyle: hasSeconds ? 'medium' : 'short' }),
    timeZone,
  })
}

const MINUTES = dateTimeFormat(VIEWERS)
const SECONDS = dateTimeFormat(VIEWERS, true, true)

/** The viewer's own zone to read, UTC to hover; how long ago something was stays as it is. */
export function localTimes(within: ParentNode) {
  for (const time of within.querySelectorAll('time')) {
    const at = new Date(time.dateTime)
    if (time.classList.contains('age')) {
      time.title = `${SECONDS.format(at)} ${VIEWERS} · ${time.title}`
      continue
    }
    time.title = `${VIEWERS} · ${time.textContent}`
    time.textContent = ('seconds' in time.dataset ? SECONDS : MINUTES).format(at)
  }
}
