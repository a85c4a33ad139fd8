// A line follows the pointer from one place or list to another; the other lines make room.

const MOVED = 5; // pixels that a press may wander and still be a click
const EDGE = 48; // pixels from the window's edge at which the page scrolls along

/** Let a piece be dragged between lists: by its grip on a touch screen, anywhere with a mouse. */
export function drag(piece, grip, lists, changed) {
  piece.addEventListener("pointerdown", (event) => {
    if (event.button || (event.pointerType !== "mouse" && !grip.contains(event.target))) return;
    const start = event.clientY;
    piece.dragged = false;
    const follow = ({ clientY }) => {
      if (!piece.dragged && Math.abs(clientY - start) < MOVED) return;
      piece.dragged = true;
      piece.classList.add("dragged");
      if (clientY < EDGE + 52) scrollBy(0, -12); // below the bar
      if (clientY > innerHeight - EDGE) scrollBy(0, 12);
      piece.style.transform = "";
      for (const list of lists) put(piece, list, clientY);
      const { top, height } = piece.getBoundingClientRect();
      piece.style.transform = `translateY(${clientY - top - height / 2}px)`;
    };
    const end = () => {
      removeEventListener("pointermove", follow);
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
      piece.classList.remove("dragged");
      piece.style.transform = "";
      if (!piece.dragged) return;
      changed();
      setTimeout(() => (piece.dragged = false)); // the click that follows is none
    };
    addEventListener("pointermove", follow);
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
  });
}

/** Put a piece where the pointer is, if that is over the list. */
function put(piece, list, y) {
  const { top, bottom } = list.getBoundingClientRect();
  if (y < top - 12 || y > bottom + 12) return;
  const middle = (one) => {
    const box = one.getBoundingClientRect();
    return box.top + box.height / 2;
  };
  const next = [...list.children].find((one) => one !== piece && y < middle(one)) ?? null;
  if (piece.parentElement !== list || piece.nextElementSibling !== next) list.insertBefore(piece, next);
}
