/**
 * Goes on by itself once the other tab has checked this device. The page does without: the button that
 * is pressed here is there for people as well.
 */
const form = document.querySelector('form[data-poll]')
const EVERY_MS = 1000
const TRIES_MAX = 180
let left = 0
let isAsking = false

for (const kind of ['click', 'auxclick'])
  document.querySelector('[data-check]')?.addEventListener(kind, () => begin(TRIES_MAX))
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') begin(1)
})

function begin(tries) {
  left = Math.max(left, tries)
  if (!isAsking) void ask()
}

async function ask() {
  isAsking = true
  while (left > 0) {
    left--
    if (await isChecked()) return form.submit()
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS))
  }
  isAsking = false
}

async function isChecked() {
  try {
    const answer = await fetch(form.dataset.poll, { headers: { accept: 'application/json' } })
    return answer.ok && (await answer.json()).checked === true
  } catch {
    return false
  }
}
