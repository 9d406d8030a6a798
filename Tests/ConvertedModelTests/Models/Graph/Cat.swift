// Made by model-reset convert from the model Graph. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity
nonisolated class Cat: Animal {
    var lives: Int16 = 9
}
