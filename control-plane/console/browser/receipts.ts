/** Follows a change to the gateways, where it had not arrived when the page was made. */

interface State {
  readonly kind: 'live' | 'waiting' | 'rejected' | 'quiet'
  readonly sentence: string
  readonly lines: readonly string[]
}

const TONES = { live: 'success', quiet: 'success', waiting: 'info', rejected: 'problem' } as const

export function followReceipts() {
  for (const block of document.querySelectorAll<HTMLElement>('[data-receipt]')) {
    const source = new EventSource(block.dataset['receipt'] ?? '')
    source.addEventListener('state', (event: MessageEvent<string>) =>
      show(block, JSON.parse(event.data) as State),
    )
    // the end of it: what is on the page stays true, and can be looked at again
    source.addEventListener('end', () => source.close())
    source.addEventListener('error', () => source.close())
  }
}

function show(block: HTMLElement, { kind, sentence, lines }: State) {
  block.classList.remove(...Object.values(TONES))
  block.classList.add(TONES[kind])
  const said = block.querySelector('[data-sentence]')
  if (said !== null) said.textContent = sentence
  const items = lines.map((line) => {
    const item = document.createElement('li')
    item.textContent = line
    return item
  })
  block.querySelector('[data-lines]')?.replaceChildren(...items)
  if (kind !== 'waiting') block.querySelector('[data-again]')?.remove()
}
