# SPDX-License-Identifier: Apache-2.0
"""Reinforcement learning with a replay buffer and a target network; the environment is a corridor."""
import collections
import random

import numpy as np

import mindspore as ms
from mindspore import Tensor, nn, ops


class Corridor:
    def __init__(self, n=6):
        self.n = n

    def reset(self):
        self.at = self.n // 2
        return self.state()

    def state(self):
        s = np.zeros(self.n, np.float32)
        s[self.at] = 1
        return s

    def step(self, action):
        self.at += 1 if action else -1
        done = self.at in (0, self.n - 1)
        return self.state(), float(self.at == self.n - 1), done


class QNet(nn.Cell):
    def __init__(self, n):
        super().__init__()
        self.fc1 = nn.Dense(n, 16, activation='relu')
        self.fc2 = nn.Dense(16, 2)

    def construct(self, x):
        return self.fc2(self.fc1(x))


class Agent:
    def __init__(self, n, gamma=0.9):
        self.policy, self.target = QNet(n), QNet(n)
        self.gamma = gamma
        state = np.random.RandomState(0)
        for p in self.policy.get_parameters():
            p.set_data(Tensor(state.normal(0, 0.3, p.shape), ms.float32))
        self.sync()
        self.optimizer = nn.RMSProp(self.policy.trainable_params(), learning_rate=0.01, decay=0.95, momentum=0.0, epsilon=1e-7)
        self.loss_fn = nn.SmoothL1Loss(beta=1.0, reduction='mean')
        self.grad_fn = ms.value_and_grad(self.forward, None, self.policy.trainable_params())
        self.buffer = collections.deque(maxlen=200)

    def sync(self):
        for a, b in zip(self.target.trainable_params(), self.policy.trainable_params()):
            ops.assign(a, b)

    def forward(self, state, action, target):
        q = self.policy(state)
        q = ops.gather_elements(q, 1, action)
        return self.loss_fn(q.squeeze(1), target)

    def act(self, state, epsilon):
        if random.random() < epsilon:
            return random.randrange(2)
        return int(self.policy(Tensor(state).expand_dims(0)).argmax(axis=1).asnumpy()[0])

    def learn(self, batch_size=16):
        batch = random.sample(list(self.buffer), batch_size)
        state, action, reward, next_state, done = (np.array(v) for v in zip(*batch))
        next_q = self.target(Tensor(next_state, ms.float32)).max(axis=1)
        target = Tensor(reward, ms.float32) + self.gamma * next_q * (1 - Tensor(done, ms.float32))
        loss, grads = self.grad_fn(Tensor(state, ms.float32), Tensor(action, ms.int32).expand_dims(1), ops.stop_gradient(target))
        self.optimizer(grads)
        return float(loss)


random.seed(1)
env, agent = Corridor(), Agent(6)
for episode in range(12):
    state, total, losses = env.reset(), 0.0, []
    for _ in range(20):
        action = agent.act(state, 0.5)
        next_state, reward, done = env.step(action)
        agent.buffer.append((state, action, reward, next_state, float(done)))
        state, total = next_state, total + reward
        if len(agent.buffer) >= 16:
            losses.append(agent.learn())
        if done:
            break
    if episode % 4 == 3:
        agent.sync()
        print(f"episode {episode}: reward {total}, loss {np.mean(losses):.6f}")
print(agent.policy(Tensor(np.eye(6), ms.float32)))
