/** Runs `run` again, after a pause, while it fails with errors that may pass: at most `tries` times. Throws the last one, or another. */
export async function retry<Result>(
  run: () => Promise<Result>,
  tries: number,
  pause: (tried: number) => unknown,
  mayPass: (error: unknown) => boolean = () => true,
): Promise<Result> {
  for (let tried = 1; ; tried++) {
    try {
      return await run()
    } catch (error) {
      if (tried >= tries || !mayPass(error)) throw error
    }
    await pause(tried)
  }
}
