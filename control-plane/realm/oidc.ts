/**
 * oidc-provider, loaded without the line that its entry writes to the console under every Node
 * that has not become LTS yet: our log is JSON, and our Node is pinned and tested.
 */
async function loadQuietly() {
  const console = globalThis.console
  globalThis.console = { ...console, warn: () => {} }
  try {
    return await import('oidc-provider')
  } finally {
    globalThis.console = console
  }
}

export const { Provider, errors, interactionPolicy } = await loadQuietly()
