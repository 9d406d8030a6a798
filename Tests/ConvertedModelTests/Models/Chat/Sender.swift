// Made by model-reset convert from the model Chat. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity
nonisolated class Sender: Item {
}
