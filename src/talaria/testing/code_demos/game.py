"""The game that the scripted model of `talaria demo snake` writes: one page, without anything from elsewhere."""

GAME = """\
<!doctype html>
<html lang="zh">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>贪吃蛇 · Snake</title>
<style>
body { font: 16px system-ui, sans-serif; display: grid; justify-items: center; background: #f4f4ef; }
canvas { background: #fff; border: 1px solid #999; image-rendering: pixelated; }
</style>
</head>
<body>
<h1>贪吃蛇 · Snake</h1>
<p>得分 · Score: <output id="score">0</output></p>
<canvas id="board" width="400" height="400" tabindex="0"></canvas>
<p id="hint">Arrow keys move one step; space lets it run by itself.</p>
<script>
const cells = 20, size = 20;
const moves = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
const board = document.getElementById("board").getContext("2d");
const score = document.getElementById("score");
let snake, food, heading, timer = null, points;

function begin() {
  snake = [[10, 10], [9, 10], [8, 10]];
  heading = "ArrowRight";
  food = [12, 9];
  points = 0;
  draw();
}

function isOn(cell) {
  return snake.some(([x, y]) => x === cell[0] && y === cell[1]);
}

function newFood() {
  do {
    food = [Math.floor(Math.random() * cells), Math.floor(Math.random() * cells)];
  } while (isOn(food));
}

function step() {
  const [dx, dy] = moves[heading];
  const head = [snake[0][0] + dx, snake[0][1] + dy];
  if (head.some(at => at < 0 || at >= cells) || isOn(head)) {
    end();
    return;
  }
  snake.unshift(head);
  if (head[0] === food[0] && head[1] === food[1]) {
    points += 1;
    newFood();
  } else {
    snake.pop();
  }
  draw();
}

function end() {
  clearInterval(timer);
  timer = null;
  document.getElementById("hint").textContent = `The end, with ${points}. Any arrow begins anew.`;
  begin();
}

function draw() {
  board.clearRect(0, 0, 400, 400);
  board.fillStyle = "#c0392b";
  board.fillRect(food[0] * size, food[1] * size, size, size);
  board.fillStyle = "#2c7a4b";
  for (const [x, y] of snake) board.fillRect(x * size, y * size, size - 1, size - 1);
  score.value = points;
}

addEventListener("keydown", event => {
  if (event.key === " ") {
    timer = timer === null ? setInterval(step, 160) : clearInterval(timer) ?? null;
  } else if (event.key in moves) {
    const [dx, dy] = moves[event.key], [nowX, nowY] = moves[heading];
    if (dx !== -nowX || dy !== -nowY) heading = event.key;
    if (timer === null) step();
  } else {
    return;
  }
  event.preventDefault();
});
begin();
</script>
</body>
</html>
"""
