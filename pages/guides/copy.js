// A button that copies, in each box of code. Without a clipboard, which browsers offer to secure addresses alone, there is none.
const { clipboard } = navigator
for (const box of clipboard === undefined ? [] : document.querySelectorAll('pre:not(.prints)')) {
  const button = document.createElement('button')
  const say = text => {
    button.textContent = text
  }
  Object.assign(button, { type: 'button', ariaLive: 'polite' })
  say('Copy')
  button.addEventListener('click', async () => {
    say(
      await clipboard.writeText(box.textContent).then(
        () => 'Copied',
        () => 'Not copied',
      ),
    )
    setTimeout(say, 2000, 'Copy')
  })
  const frame = document.createElement('div')
  frame.className = 'code'
  box.replaceWith(frame)
  frame.append(button, box)
}
