"""Shows what TensorFlow sees on this machine and times one training step of a small encoder block on each device."""

import time

import keras
import numpy as np
import tensorflow as tf

BATCH, TOKENS, WIDTH, HEADS, STEPS = 32, 128, 256, 4, 10


def encoder_classifier() -> keras.Model:
    """Self-attention, feed-forward network and a head: (B, T, D) -> (B, 1)."""
    inputs = keras.Input((TOKENS, WIDTH))
    attended = keras.layers.MultiHeadAttention(num_heads=HEADS, key_dim=WIDTH // HEADS)(query=inputs, value=inputs)
    x = keras.layers.LayerNormalization()(inputs + attended)
    hidden = keras.layers.Dense(4 * WIDTH, activation="gelu")(x)
    x = keras.layers.LayerNormalization()(x + keras.layers.Dense(WIDTH)(hidden))
    outputs = keras.layers.Dense(1)(keras.layers.GlobalAveragePooling1D()(x))
    model = keras.Model(inputs, outputs)
    model.compile(optimizer="adam", loss=keras.losses.BinaryCrossentropy(from_logits=True))
    return model


def seconds_per_step(device: str) -> float:
    """Mean time of one training step on `device`, after one step that traces and compiles."""
    random = np.random.default_rng(0)
    with tf.device(device):
        x = tf.constant(random.normal(size=(BATCH, TOKENS, WIDTH)), tf.float32)
        y = tf.constant(random.integers(0, 2, size=(BATCH, 1)), tf.float32)
        model = encoder_classifier()
        model.train_on_batch(x, y)  # traces
        start = time.perf_counter()
        for _ in range(STEPS):
            model.train_on_batch(x, y)  # returns the loss as a number, so the device has finished
        return (time.perf_counter() - start) / STEPS


def main() -> None:
    print(f"TensorFlow {tf.__version__}, Keras {keras.__version__}, built with CUDA: {tf.test.is_built_with_cuda()}")
    gpus = tf.config.list_physical_devices("GPU")
    for gpu in gpus:
        details = tf.config.experimental.get_device_details(gpu)
        print(f"{gpu.name}: {details.get('device_name')}, compute capability {details.get('compute_capability')}")
    if not gpus:
        print("No GPU. With an NVIDIA card and driver on Linux: make setup GPU=1")
    print(f"One training step, {BATCH} sequences of {TOKENS} tokens, width {WIDTH}:")
    for device in tf.config.list_logical_devices():
        print(f"  {device.name}: {1000 * seconds_per_step(device.name):.1f} ms")


if __name__ == "__main__":
    main()
