// Made by model-reset convert from the model Chat. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

nonisolated extension ManagedObjectModel {
    /// The model `Chat`.
    static let chat = ManagedObjectModel("Chat") {
        Item.self
        Message.self
        Room.self
        Sender.self
    }
}
