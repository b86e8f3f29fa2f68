/** How many of these, the first ones, fit into so many bytes; one always does. */
export function countFitting(sizes: readonly number[], bytesMax: number): number {
  let bytes = 0
  const end = sizes.findIndex((size, at) => {
    bytes += size
    return at > 0 && bytes > bytesMax
  })
  return end === -1 ? sizes.length : end
}
