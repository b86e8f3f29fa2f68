/**
 * What only a script can do on a page of a realm: show a password while it is typed, tell times in the
 * reader's own zone, and use a passkey, whose answer goes into the form, which is then sent like any
 * other. Every page does without.
 */
const form = document.querySelector('form[data-passkey]')
if (form !== null) offerPasskey()
for (const button of document.querySelectorAll('[data-reveal]')) offerReveal(button)
for (const time of document.querySelectorAll('time')) tellHere(time)

/** UTC, as it stood there, is what a pointer on it says. */
function tellHere(time) {
  const { lang } = document.documentElement
  const here = new Intl.DateTimeFormat(lang, { dateStyle: 'medium', timeStyle: 'short' })
  time.title = time.textContent
  time.textContent = here.format(new Date(time.dateTime))
}

/** Sent as a password again, so that no browser keeps it among what was typed into texts. */
function offerReveal(button) {
  const field = document.getElementById(button.dataset.reveal)
  const show = (isShown) => {
    field.type = isShown ? 'text' : 'password'
    button.setAttribute('aria-pressed', String(isShown))
  }
  button.hidden = false
  button.addEventListener('click', () => show(field.type === 'password'))
  field.form.addEventListener('submit', () => show(false))
}

function offerPasskey() {
  const answer = form.elements.namedItem('passkey')
  const failure = form.querySelector('[role=alert]')

  form.querySelector('[role=status]').remove() // that says what to do without this script

  form.addEventListener('submit', (event) => {
    if (answer.value !== '') return
    event.preventDefault()
    failure.hidden = true
    ask(JSON.parse(form.dataset.options)).then(
      (credential) => {
        answer.value = JSON.stringify(credential)
        form.submit()
      },
      () => (failure.hidden = false),
    )
  })

  // Back from the next page: what the form holds was for the page before
  window.addEventListener('pageshow', () => (answer.value = ''))
}

async function ask(options) {
  const challenge = toBytes(options.challenge)
  const opened = (known = []) => known.map((one) => ({ ...one, id: toBytes(one.id) }))
  if (form.dataset.passkey === 'create') {
    const user = { ...options.user, id: toBytes(options.user.id) }
    const excludeCredentials = opened(options.excludeCredentials)
    const publicKey = { ...options, challenge, user, excludeCredentials }
    const made = await navigator.credentials.create({ publicKey })
    return closed(made, {
      attestationObject: toText(made.response.attestationObject),
      transports: made.response.getTransports?.() ?? [],
    })
  }
  const allowCredentials = opened(options.allowCredentials)
  const shown = await navigator.credentials.get({
    publicKey: { ...options, challenge, allowCredentials },
  })
  return closed(shown, {
    authenticatorData: toText(shown.response.authenticatorData),
    signature: toText(shown.response.signature),
  })
}

function closed({ id, rawId, type, response }, others) {
  return {
    id,
    rawId: toText(rawId),
    type,
    clientExtensionResults: {},
    response: { clientDataJSON: toText(response.clientDataJSON), ...others },
  }
}

function toBytes(text) {
  const binary = atob(text.replace(/-/g, '+').replace(/_/g, '/'))
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}

function toText(bytes) {
  const binary = String.fromCharCode(...new Uint8Array(bytes))
  return btoa(binary).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '')
}
