/** What many ask of one thing is made once for it, and kept as long as the thing itself. */
export function oncePer<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const made = new WeakMap<K, { readonly value: V }>()
  return (key) => {
    const kept = made.get(key) ?? { value: make(key) }
    made.set(key, kept)
    return kept.value
  }
}
